// A first bot: it plays any legal action, each as likely as the others.
// It needs no JSON library: the strings of "legal" hold no quotes of their own.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Random;

class bot {
    static String between(String line, String from, char to) {
        int start = line.indexOf(from);
        if (start < 0) return "";
        start += from.length();
        return line.substring(start, line.indexOf(to, start));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Random random = new Random();
        for (String line; (line = in.readLine()) != null; ) {
            if (line.contains("\"type\":\"hello\"")) {
                random.setSeed(between(line, "\"seed\":\"", '"').hashCode());
                System.out.println("{\"type\":\"ready\"}");
            } else if (line.contains("\"type\":\"decide\"")) {
                String legal = between(line, "\"legal\":[", ']');
                long actions = legal.chars().filter(c -> c == '"').count() / 2;
                System.out.println("{\"index\":" + random.nextInt((int) actions) + "}");
            }
        }
    }
}
