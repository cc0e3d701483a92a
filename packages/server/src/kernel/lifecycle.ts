import { fail } from './errors.ts'

/** One move of a state machine. Where a trigger can lead from one state to several, the rules of its feature choose. */
export type Move<State extends string, Trigger extends string> = readonly [from: State, trigger: Trigger, to: State]

/** The states of a resource, as a table of every move that there is. What no row allows is refused. */
export interface Lifecycle<State extends string, Trigger extends string> {
  readonly moves: readonly Move<State, Trigger>[]
  /** Refuses with `conflict` what does not happen in this state, naming it. */
  check(from: State, trigger: Trigger): void
  /** The state that this trigger leads to, or undefined. For triggers that lead to one state alone. */
  next(from: State, trigger: Trigger): State | undefined
  /** The states from which this trigger leads to that one: the condition of the statement that makes the move. */
  before(trigger: Trigger, to: State): State[]
}

/**
 * @param noun what is told of the resource when a move is refused: `the ${noun} is denied`
 * @example lifecycle('change request', [['open', 'reject', 'rejected'], ['open', 'withdraw', 'withdrawn']])
 */
export function lifecycle<State extends string, Trigger extends string>(
  noun: string,
  moves: readonly Move<State, Trigger>[],
): Lifecycle<State, Trigger> {
  const next = (from: State, trigger: Trigger) => moves.find(([state, by]) => state === from && by === trigger)?.[2]
  return {
    moves,
    next,
    before: (trigger, to) => moves.flatMap(([from, by, state]) => (by === trigger && state === to ? [from] : [])),
    check(from, trigger) {
      if (next(from, trigger) === undefined) throw fail('conflict', `the ${noun} is ${from}`)
    },
  }
}
