// Uses 50 ms of CPU time for each answer.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

func spent() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<17), 1<<17)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"type":"hello"`) {
			fmt.Println(`{"type":"ready"}`)
		} else if strings.Contains(lines.Text(), `"type":"decide"`) {
			for until := spent() + 50_000_000; spent() < until; {
			}
			fmt.Println(`{"index":0}`)
		}
	}
}
