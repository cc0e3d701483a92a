import { agents } from './examples/agents.ts'
import { machines } from './examples/machines.ts'
import { organization } from './examples/organization.ts'
import { people } from './examples/people.ts'
import { places } from './examples/places.ts'
import { platforms } from './examples/platforms.ts'
import { secrets } from './examples/secrets.ts'
import { start } from './examples/start.ts'
import { temporary } from './examples/temporary.ts'
import { trust } from './examples/trust.ts'
import { vault } from './examples/vault.ts'

/** An example: the command line, and a sentence that says what it does. */
export type Example = readonly [line: string, what: string]

const examples: Readonly<Record<string, readonly Example[]>> = {
  ...start,
  ...secrets,
  ...places,
  ...people,
  ...machines,
  ...temporary,
  ...platforms,
  ...vault,
  ...agents,
  ...organization,
  ...trust,
}

/** The examples of a command, whose path is written without `skerry`; '' is `skerry` itself. */
export const examplesOf = (path: string): readonly Example[] => (Object.hasOwn(examples, path) ? examples[path]! : [])

/** Every command that has examples, for the test that no command lacks them. */
export const exampleCommands: readonly string[] = Object.keys(examples)
