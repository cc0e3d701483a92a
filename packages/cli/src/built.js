import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

// The command is also built into a few files, which Node finds and links faster (scripts/command.ts). They are used
// while every source file has the size and the time that it had at the build. Otherwise the sources run.

const folder = fileURLToPath(new URL('../dist/', import.meta.url))

/**
 * @typedef {object} Build
 * @property {string} program  the name of the file that is loaded first
 * @property {string[]} files  the names of all files
 * @property {Record<string, string>} sources  the `stampOf` each source, by its path from the folder of the build
 */

/** Returns the URL of the built command; undefined if there is no build, or if its sources have changed since. */
export function builtProgram() {
  const build = readBuild()
  if (!build) return
  for (const [path, stamp] of Object.entries(build.sources)) if (stampOf(folder + path) !== stamp) return
  return pathToFileURL(folder + build.program).href
}

/** @returns {Build | undefined} */
export function readBuild() {
  try {
    return JSON.parse(readFileSync(`${folder}build.json`, 'utf8'))
  } catch {}
}

/**
 * Returns a stamp that changes when the file is written again; undefined without a file.
 * @param {string} file
 */
export function stampOf(file) {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.size} ${found.mtimeMs}`
}
