// Uses 50 ms of its main thread's CPU time for each answer.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

class bot {
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        for (String line; (line = in.readLine()) != null; ) {
            if (line.contains("\"type\":\"hello\"")) {
                System.out.println("{\"type\":\"ready\"}");
            } else if (line.contains("\"type\":\"decide\"")) {
                long until = clock.getCurrentThreadCpuTime() + 50_000_000;
                while (clock.getCurrentThreadCpuTime() < until) { }
                System.out.println("{\"index\":0}");
            }
        }
    }
}
