// Run it in this folder with: go test
package main

import (
	"strings"
	"testing"
)

func TestItGoesOnWhileItCan(t *testing.T) {
	random := sow("9f")
	for i := 0; i < 50; i++ {
		if action := choose([]string{"block c4", "buy", "end"}, random)[0]; action == "end" {
			t.Fatal("it ended its turn early")
		}
	}
	if action := choose([]string{"end 3,2", "end 3,3"}, random)[0]; action[:3] != "end" {
		t.Fatal(action)
	}
}

func TestItAnswersEachQuestionOnce(t *testing.T) {
	lines := `{"type":"hello","seed":"9f"}
{"type":"decide","legal":["block c4"]}
{"type":"end","scores":[61,55]}
`
	var out strings.Builder
	if err := play(strings.NewReader(lines), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "{\"type\":\"ready\"}\n{\"actions\":[\"block c4\"]}\n" {
		t.Fatal(out.String())
	}
}
