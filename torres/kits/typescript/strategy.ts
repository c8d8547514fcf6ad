// The part of the bot that decides. bot.ts imports it, and so does the test.

// Only the keys that this bot uses. docs/protocol.md has all of them.
export type State = { heights: number[][]; knights: string[][]; ap: number };
export type Message =
  | { type: "hello"; seat: number; seats: number; seed: string }
  | { type: "decide"; decision: string; state: State; legal: string[] }
  | { type: "end"; scores: number[] }
  | { type: "forfeit"; reason: string; detail: string };
export type Decide = Extract<Message, { type: "decide" }>;

// Return a function that returns random whole numbers from 0 to bound - 1.
// All randomness comes from the seed in "hello", so that a game can be repeated.
export function randomSource(seed: string): (bound: number) => number {
  let state = 1;
  for (const letter of seed) state = (Math.imul(state, 31) + letter.charCodeAt(0)) >>> 0;
  return (bound) => {
    // A linear congruential generator. Its higher bits are the better ones.
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % bound;
  };
}

// Return your actions, in order. This is the place for your ideas.
//
// message.state shows the board: for example message.state.heights[0][2] is the number
// of blocks on c1. You may answer with a whole turn, as in
// ["move b3 b4", "block c4", "end"], or with one action: then you are asked again.
export function choose(message: Decide, below: (bound: number) => number): string[] {
  const goingOn = message.legal.filter((action) => !action.startsWith("end"));
  const actions = goingOn.length ? goingOn : message.legal;
  return [actions[below(actions.length)]];
}
