import type { Static } from 'typebox'
import type * as schemas from './schemas.ts'

/** A change that the server has stored. It contains ids and the name of an action, but no values. */
export type LiveChange = Static<typeof schemas.LiveChange>
/** The people who look at an application in the dashboard now. */
export type Presence = Static<typeof schemas.Presence>

/**
 * An event of the event stream. `type` is the text in the line `event:` of the event. `data` is the parsed JSON in the
 * line `data:`.
 */
export type LiveEvent =
  | { type: 'hello'; data: Static<typeof schemas.Hello> }
  | { type: 'change'; data: LiveChange }
  | { type: 'presence'; data: Presence }
