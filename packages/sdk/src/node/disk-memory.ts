import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Cache } from '../cache.ts'
import { diskCache } from './disk-cache.ts'

const keepSeconds = 10 * 365 * 86_400
const entriesMax = 10_000

/**
 * A place on disk for what a client has seen, with the care that `diskCache` takes of copies. A memory is worth what it
 * survives: it is kept for years, in a folder that outlives the process and that the server has no say in.
 *
 * @param settings.directory `$XDG_STATE_HOME/skerry/seen` or `~/.local/state/skerry/seen` unless given.
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
