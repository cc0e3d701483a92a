import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

// The command is also built into few files, which Node finds and links sooner (scripts/command.ts). They are used as long
// as every file that they were made from has the size and the time that it had then; otherwise the sources run.

const folder = fileURLToPath(new URL('../dist/', import.meta.url))

/**
 * @typedef {object} Build
 * @property {string} program  the name of the file that is loaded first
 * @property {string[]} files  the names of all
 * @property {Record<string, string>} sources  their paths, from the folder of the build -> stampOf
 */

/** The command as it is built: undefined where it is not, or where its sources are others by now. */
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
 * What tells a file from one that was written later; undefined without a file.
 * @param {string} file
 */
export function stampOf(file) {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.size} ${found.mtimeMs}`
}
