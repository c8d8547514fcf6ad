// A first bot for Torres: it plays any legal action, all with the same probability.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: write your log to System.err.
// Everything about the messages is in docs/protocol.md.
//
// The bot counts the legal actions and answers with an index, so that it needs no JSON
// library. To read the state of the board, add the sources of one to your upload.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Random;

class bot {
    // Return what stands between the text `from` and the next `to`; empty if it is missing.
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
                // All randomness comes from this seed, so that a game can be repeated.
                random.setSeed(between(line, "\"seed\":\"", '"').hashCode());
                System.out.println("{\"type\":\"ready\"}");
            } else if (line.contains("\"type\":\"decide\"")) {
                // Your ideas go here. An answer may also name its actions, as in
                // {"actions":["move b3 b4","end"]}.
                String legal = between(line, "\"legal\":[", ']');
                // Each action is a string between two quotes, and has none of its own.
                long actions = legal.chars().filter(c -> c == '"').count() / 2;
                System.out.println("{\"index\":" + random.nextInt((int) actions) + "}");
            }
        }
    }
}
