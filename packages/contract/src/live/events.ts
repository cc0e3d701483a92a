import type { Static } from 'typebox'
import type * as schemas from './schemas.ts'

export type LiveChange = Static<typeof schemas.LiveChange>
export type Presence = Static<typeof schemas.Presence>

/** An event of the stream: the name in its `event:` line, with the JSON of its `data:` line. */
export type LiveEvent =
  | { type: 'hello'; data: Static<typeof schemas.Hello> }
  | { type: 'change'; data: LiveChange }
  | { type: 'presence'; data: Presence }
