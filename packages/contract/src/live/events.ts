import type { Static } from 'typebox'
import type * as schemas from './schemas.ts'

/** A stored change. It contains ids and the name of an action, but no values. */
export type LiveChange = Static<typeof schemas.LiveChange>
/** The people who look at an application in the dashboard now. */
export type Presence = Static<typeof schemas.Presence>

/** An event of the stream. `type` is the text of its line `event:`. `data` is the parsed JSON of its line `data:`. */
export type LiveEvent =
  | { type: 'hello'; data: Static<typeof schemas.Hello> }
  | { type: 'change'; data: LiveChange }
  | { type: 'presence'; data: Presence }
