// The castles of a frame: connected blocks, and the points that each seat would get for
// them now. Rules 55 and 56: the area times the level of the seat's highest knight.

import { plural } from "./words.js";

const SIZE = 8;

export function spaceName(index) {
  return String.fromCharCode(97 + (index % SIZE)) + (Math.floor(index / SIZE) + 1);
}

export function spaceIndex(space) {
  return (Number(space[1]) - 1) * SIZE + space.charCodeAt(0) - 97;
}

function neighbours(index) {
  const column = index % SIZE;
  return [
    ...(column > 0 ? [index - 1] : []), ...(column < SIZE - 1 ? [index + 1] : []),
    ...(index >= SIZE ? [index - SIZE] : []), ...(index < SIZE * (SIZE - 1) ? [index + SIZE] : []),
  ];
}

// Return the castles, the most valuable ones first. `seats` holds {seat, level, points},
// most points first; `leader` is the seat with the most points, or null.
export function castlesOf({ heights, knights }) {
  const castles = [];
  const seen = new Set();
  heights.forEach((height, start) => {
    if (!height || seen.has(start)) return;
    const spaces = [start];
    seen.add(start);
    for (const index of spaces) {  // it grows meanwhile
      for (const next of neighbours(index)) {
        if (!heights[next] || seen.has(next)) continue;
        seen.add(next);
        spaces.push(next);
      }
    }
    castles.push(castle(spaces, heights, knights));
  });
  return castles.sort((one, other) => value(other) - value(one) || one.spaces[0] - other.spaces[0]);
}

function castle(spaces, heights, knights) {
  const inside = new Set(spaces);
  const seats = knights.flatMap((places, seat) => {
    const levels = places.map(spaceIndex).filter((index) => inside.has(index)).map((index) => heights[index]);
    if (!levels.length) return [];
    const level = Math.max(...levels);
    return [{ seat, level, points: level * spaces.length }];
  });
  seats.sort((one, other) => other.points - one.points || one.seat - other.seat);
  const leads = seats.length && seats[0].points > (seats[1]?.points ?? 0);
  return { spaces, seats, leader: leads ? seats[0].seat : null };
}

function value({ spaces, seats }) {
  return 1000 * (seats[0]?.points ?? 0) + spaces.length;
}

// "6 spaces × level 3 = 18 for mason, × level 2 = 12 for grendel"
export function inWords({ spaces, seats }, players) {
  const area = plural(spaces.length, "space");
  if (!seats.length) return `The castle at ${spaceName(spaces[0])}: ${area}, no knight.`;
  const parts = seats.map(({ seat, level, points }) => `× level ${level} = ${points} for ${players[seat]}`);
  return `The castle at ${spaceName(spaces[0])}: ${area} ${parts.join(", ")}.`;
}
