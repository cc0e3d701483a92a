import type { Example } from './examples.ts'
import { access } from './tasks/access.ts'
import { machines } from './tasks/machines.ts'
import { moving } from './tasks/moving.ts'
import { operating } from './tasks/operating.ts'
import { secrets } from './tasks/secrets.ts'
import { start } from './tasks/start.ts'

/** A thing that people want to do, for `skerry help <words>`. */
export interface Task {
  title: string
  /** Words that people may type besides those of the title. */
  words: string
  steps: readonly Example[]
  /** The document that tells more. */
  document: string
}

/** All tasks, in the order in which people meet them. */
export const tasks: readonly Task[] = [...start, ...secrets, ...access, ...machines, ...operating, ...moving]
