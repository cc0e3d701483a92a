import type { Stage } from './stage.ts'

/** The act of a client while the server lies. */
export type Act =
  | 'run'
  | 'branch'
  | 'store'
  | 'write'
  | 'unlock'
  | 'encrypt'
  | 'grant'
  | 'rekey'
  | 'pin'
  | 'fork'
  | 'replace'
  | 'cover'

/** The facts with which a client can check an answer. */
export interface Situation {
  /** The client talked to this server before the server lied, and remembers the answers. */
  memory: boolean
  /** The client has a pin, from its token or from `skerry.json`. */
  pin: boolean
}

/** The sentences of the threat model that say what a hostile server can do all the same. The key is the anchor there. */
export type Remains =
  | 'without-a-pin'
  | 'without-memory'
  | 'values-can-be-rolled-back'
  | 'branches-can-be-rolled-back'
  | 'an-old-pin'
  | 'a-pin-from-the-server'
  | 'a-hidden-recovery-key'

export interface Attack {
  /** For links and for `--only`: words with hyphens. */
  id: string
  /** The lie, as a sentence. */
  title: string
  act: Act
  /** Makes the server lie, from now on. */
  begin(stage: Stage): Promise<void> | void
  /** Makes a client with memory see an earlier answer before the newest one. */
  remember?(stage: Stage): Promise<void> | void
  /** The client has the pin of this root, and not that of the newest one. */
  pinnedRoot?(stage: Stage): string
  /** The clock of the client is wrong by this many days. */
  clockDays?: number
  /** Nothing is false. The client must go on, so that a refusal fails. */
  isHonest?: boolean
  /** The situations in which the lie may be accepted, each with the sentence that says so. */
  remains?: Partial<Record<SituationName, Remains>>
}

export type SituationName = 'nothing' | 'memory' | 'pin' | 'both'

/** All situations, in the order of the table's columns. */
export const situations: Readonly<Record<SituationName, Situation>> = {
  nothing: { memory: false, pin: false },
  memory: { memory: true, pin: false },
  pin: { memory: false, pin: true },
  both: { memory: true, pin: true },
}

/** A lie that no client can notice. */
export const everywhere = (sentence: Remains): Record<SituationName, Remains> => ({
  nothing: sentence,
  memory: sentence,
  pin: sentence,
  both: sentence,
})

/** The reaction of a client to a lie. */
export interface Outcome {
  /** `unharmed`: the client used only what the honest server would have sent. */
  seen: 'refused' | 'warned' | 'accepted' | 'unharmed'
  /** The first line that the person sees; empty if there is none. */
  line: string
}
