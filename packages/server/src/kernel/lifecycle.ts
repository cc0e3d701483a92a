import { fail } from './errors.ts'

/** One move of a state machine. If a trigger leads from one state to several, the rules of the feature choose. */
export type Move<State extends string, Trigger extends string> = readonly [from: State, trigger: Trigger, to: State]

/** The states of a resource, as a table of all moves. Any other move is refused. */
export interface Lifecycle<State extends string, Trigger extends string> {
  readonly moves: readonly Move<State, Trigger>[]
  /** Refuses with `conflict` if the trigger is not allowed in this state. The message names the state. */
  check(from: State, trigger: Trigger): void
  /** Returns the state that this trigger leads to, or undefined. Only for triggers with a single target state. */
  next(from: State, trigger: Trigger): State | undefined
  /**
   * Returns the states from which this trigger leads to that one, for the condition of the statement that makes the
   * move.
   */
  before(trigger: Trigger, to: State): State[]
}

/**
 * @param noun name of the resource in the error message: `the ${noun} is denied`
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
