// A first bot for Torres: it plays any legal action, all with the same probability.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: write your log to os.Stderr.
// Everything about the messages is in docs/protocol.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
)

// message has only the parts that this bot reads. The referee sends more.
type message struct {
	Type  string
	Seed  string
	Legal []string
}

func main() {
	random := rand.New(rand.NewSource(1))
	lines := bufio.NewScanner(os.Stdin)
	// The referee writes at most 64 KiB on a line; the default limit is a bit lower.
	lines.Buffer(make([]byte, 1<<17), 1<<17)
	for lines.Scan() {
		var question message
		if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		switch question.Type {
		case "hello":
			// All randomness comes from this seed, so that a game can be repeated.
			sum := fnv.New64a()
			sum.Write([]byte(question.Seed))
			random.Seed(int64(sum.Sum64()))
			fmt.Println(`{"type":"ready"}`)
		case "decide":
			// Your ideas go here. An answer may also name its actions, as in
			// {"actions":["move b3 b4","end"]}.
			fmt.Printf("{\"index\":%d}\n", random.Intn(len(question.Legal)))
		}
	}
}
