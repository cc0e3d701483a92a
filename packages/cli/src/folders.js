import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const ownerOnly = 0o700

/**
 * An XDG base folder: the variable when it holds an absolute path, else the folder in the home.
 * @param {string} variable
 * @param {string} inHome
 */
function baseFolder(variable, inHome) {
  const set = process.env[variable]
  return set?.startsWith('/') ? set : join(home(), inHome)
}

/** With HOME empty or relative, credentials would be written into whatever folder a command runs in. */
const home = () => (isAbsolute(homedir()) ? homedir() : userInfo().homedir)

export const configFolder = () => join(baseFolder('XDG_CONFIG_HOME', '.config'), 'skerry')
export const stateFolder = () => join(baseFolder('XDG_STATE_HOME', '.local/state'), 'skerry')
export const cacheFolder = () => join(baseFolder('XDG_CACHE_HOME', '.cache'), 'skerry')

/**
 * Makes a folder that only its owner can enter, or of a folder one.
 * @param {string} folder
 */
export function makePrivate(folder) {
  makeFolder(folder)
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, ownerOnly)
}

/**
 * Not `recursive`, with which Node tries for ever where a folder exists and takes no others: /proc, for one.
 * @param {string} folder
 */
function makeFolder(folder) {
  if (existsSync(folder)) return
  if (dirname(folder) !== folder) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, ownerOnly)
  } catch (error) {
    // Another command made it meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
