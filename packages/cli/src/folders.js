import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const ownerOnly = 0o700

/**
 * Returns an XDG base folder: the variable if it is an absolute path, else the folder in the home folder.
 * @param {string} variable
 * @param {string} inHome
 */
function baseFolder(variable, inHome) {
  const set = process.env[variable]
  return set?.startsWith('/') ? set : join(home(), inHome)
}

/** If HOME is empty or relative, credentials would be written into the current folder of the command. */
const home = () => (isAbsolute(homedir()) ? homedir() : userInfo().homedir)

export const configFolder = () => join(baseFolder('XDG_CONFIG_HOME', '.config'), 'skerry')
export const stateFolder = () => join(baseFolder('XDG_STATE_HOME', '.local/state'), 'skerry')
export const cacheFolder = () => join(baseFolder('XDG_CACHE_HOME', '.cache'), 'skerry')

/**
 * Makes a folder that only its owner can enter, or closes an existing folder to others.
 * @param {string} folder
 */
export function makePrivate(folder) {
  makeFolder(folder)
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, ownerOnly)
}

/**
 * Does not use `recursive`, with which Node retries for ever in a folder that accepts no new folders, such as /proc.
 * @param {string} folder
 */
function makeFolder(folder) {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, ownerOnly)
  } catch (error) {
    // Another command has made the folder in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
