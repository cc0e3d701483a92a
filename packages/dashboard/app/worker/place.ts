/** A secret's name in an environment, and this person's wrapped copy of the environment's key. */
export interface Place {
  wrappedDek: string
  environmentId: string
  name: string
}
