import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Cache } from '../cache.ts'
import { diskCache } from './disk-cache.ts'

const keepSeconds = 10 * 365 * 86_400
const entriesMax = 10_000

/**
 * Stores the known state of a client on disk: files of mode 0600 in a directory of mode 0700. A client without its
 * known state cannot notice an older or false response. Therefore choose a directory that still exists when the program
 * starts again. The store deletes a file 10 years after a client last wrote it. If there are more than 10,000 files,
 * the store deletes the oldest files.
 *
 * @param settings.directory the directory for the files. Default: `$XDG_STATE_HOME/skerry/seen`, or
 *   `~/.local/state/skerry/seen` if the variable is not set.
 * @example const knownState = createKnownState({ store: diskMemory(), baseUrl, principalId: tokenId })
 */
export function diskMemory({ directory = defaultDirectory() }: { directory?: string } = {}): Cache {
  return diskCache({ directory, keepSeconds, entriesMax })
}

function defaultDirectory(): string {
  const { XDG_STATE_HOME: base } = process.env
  const home = isAbsolute(homedir()) ? homedir() : userInfo().homedir
  return join(base && isAbsolute(base) ? base : join(home, '.local/state'), 'skerry', 'seen')
}
