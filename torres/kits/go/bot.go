// A first bot for Torres: it plays any legal action, but never ends a turn early.
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
	"io"
	"math/rand"
	"os"
	"strings"
)

// message has only the keys that this bot uses. The referee sends more: to read the
// board, add State struct{ Heights [8][8]int }.
type message struct {
	Type  string
	Seed  string
	Legal []string
}

// sow returns a source of random numbers. All randomness comes from the seed in "hello",
// so that a game can be repeated.
func sow(seed string) *rand.Rand {
	sum := fnv.New64a()
	sum.Write([]byte(seed))
	return rand.New(rand.NewSource(int64(sum.Sum64())))
}

// choose returns your actions, in order. This is the place for your ideas.
//
// You may answer with a whole turn, as in {"move b3 b4", "block c4", "end"}, or with one
// action: then you are asked again.
func choose(legal []string, random *rand.Rand) []string {
	var goingOn []string
	for _, action := range legal {
		if !strings.HasPrefix(action, "end") {
			goingOn = append(goingOn, action)
		}
	}
	if len(goingOn) == 0 {
		goingOn = legal
	}
	return []string{goingOn[random.Intn(len(goingOn))]}
}

// play speaks the protocol: hello, decide, decide, ..., end. After "end" the referee closes
// stdin: then this loop ends, and so does the bot.
func play(in io.Reader, out io.Writer) error {
	random := sow("")
	lines := bufio.NewScanner(in)
	// The referee writes at most 64 KiB on a line; the default limit is a bit lower.
	lines.Buffer(make([]byte, 1<<17), 1<<17)
	answer := json.NewEncoder(out) // it writes a whole line at once, without a buffer
	for lines.Scan() {
		var question message
		if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
			return err
		}
		switch question.Type {
		case "hello":
			random = sow(question.Seed)
			answer.Encode(map[string]string{"type": "ready"})
		case "decide":
			answer.Encode(map[string][]string{"actions": choose(question.Legal, random)})
		}
	}
	return lines.Err()
}

func main() {
	if err := play(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
