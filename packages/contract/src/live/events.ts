import type { Static } from 'typebox'
import type { Hello, LiveChange, Presence } from './schemas.ts'

export type LiveChange = Static<typeof LiveChange>
export type Presence = Static<typeof Presence>

/** An event of the stream: the name in its `event:` line, with the JSON of its `data:` line. */
export type LiveEvent =
  | { type: 'hello'; data: Static<typeof Hello> }
  | { type: 'change'; data: LiveChange }
  | { type: 'presence'; data: Presence }
