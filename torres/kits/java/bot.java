// A first bot for Torres: it plays any legal action, but never ends a turn early.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: write your log to System.err.
// Everything about the messages is in docs/protocol.md.
//
// The bot reads only the list of legal actions, so that it needs no JSON library. To read
// the state of the board, add one: every .java file beside this one is compiled, too.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

// The class has the name of the file.
class bot {
    // Return what stands between the text `from` and the next `to`; empty if it is missing.
    static String between(String line, String from, char to) {
        int start = line.indexOf(from);
        if (start < 0) return "";
        start += from.length();
        return line.substring(start, line.indexOf(to, start));
    }

    // All randomness comes from the seed in "hello", so that a game can be repeated.
    static Random sow(String hello) {
        return new Random(between(hello, "\"seed\":\"", '"').hashCode());
    }

    // Return the legal actions of a message. They have no quotes and no brackets.
    static List<String> readLegal(String line) {
        List<String> legal = new ArrayList<>();
        String[] pieces = between(line, "\"legal\":[", ']').split("\"");
        // Every second piece stands between two quotes; the others are commas.
        for (int i = 1; i < pieces.length; i += 2) legal.add(pieces[i]);
        return legal;
    }

    // Return your action. This is the place for your ideas.
    //
    // Actions have words, as in "move b3 b4" or "block c4".
    static String choose(List<String> legal, Random random) {
        List<String> goingOn = new ArrayList<>();
        for (String action : legal) {
            if (!action.startsWith("end")) goingOn.add(action);
        }
        List<String> actions = goingOn.isEmpty() ? legal : goingOn;
        return actions.get(random.nextInt(actions.size()));
    }

    // Speak the protocol: hello, decide, decide, ..., end. After "end" the referee closes
    // stdin: then this loop ends, and so does the bot.
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Random random = new Random();
        for (String line; (line = in.readLine()) != null; ) {
            if (line.contains("\"type\":\"hello\"")) {
                random = sow(line);
                System.out.println("{\"type\":\"ready\"}");
            } else if (line.contains("\"type\":\"decide\"")) {
                // An answer may hold a whole turn: {"actions":["move b3 b4","end"]}.
                String action = choose(readLegal(line), random);
                System.out.println("{\"actions\":[\"" + action + "\"]}");
            }
            // System.out flushes at the end of each line; another writer may not.
        }
    }
}
