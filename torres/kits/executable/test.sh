#!/bin/sh
# Run it in this folder with: sh test.sh
set -eu
cd "$(dirname "$0")"

# Print the answers of the bot to a game with one question, which is the argument.
answers() {
    printf '%s\n' '{"type":"hello","protocol":"torres/1","seat":0,"seed":"9f"}' \
        "$1" '{"type":"end","scores":[61,55],"ranks":[1,2]}' | ./bot
}

# Compare what the bot answered with what it should answer.
expect() {
    [ "$1" = "$2" ] || { echo "expected: $2"; echo "answered: $1"; exit 1; }
}

ready='{"type":"ready"}'
expect "$(answers '{"type":"decide","legal":["block c4","end"]}')" "$ready
{\"actions\":[\"block c4\"]}"
expect "$(answers '{"type":"decide","legal":["end"]}')" "$ready
{\"actions\":[\"end\"]}"
echo "all tests passed"
