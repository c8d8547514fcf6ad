// A first bot: it plays any legal action, each as likely as the others.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
)

type message struct {
	Type  string
	Seed  string
	Legal []string
}

func main() {
	random := rand.New(rand.NewSource(1))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<17), 1<<17)
	for lines.Scan() {
		var said message
		if err := json.Unmarshal(lines.Bytes(), &said); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		switch said.Type {
		case "hello":
			sum := fnv.New64a()
			sum.Write([]byte(said.Seed))
			random.Seed(int64(sum.Sum64()))
			fmt.Println(`{"type":"ready"}`)
		case "decide":
			fmt.Printf("{\"index\":%d}\n", random.Intn(len(said.Legal)))
		}
	}
}
