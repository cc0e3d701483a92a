import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { Failure } from '../failure.ts'
import { findProject } from '../project.ts'

/**
 * Keeps an assistant's files in the project. The user would not notice a secret elsewhere, such as in a folder that is
 * served or synchronized. Symbolic links are resolved first.
 *
 * @throws Failure for a path outside the folder of skerry.json, or outside the working directory if there is no
 * skerry.json.
 */
export function checkBelowProject(file: string): void {
  const found = findProject(process.cwd())
  const root = realpathSync(found === null ? process.cwd() : dirname(found.file))
  const way = relative(root, realPathOf(resolve(file)))
  if (way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way)) return
  throw new Failure('refused', `${file} is not in the project folder ${root}`, 'name a file in the project')
}

/**
 * Returns the real path. If the file does not exist yet, the nearest existing folder is resolved and the rest is
 * appended.
 */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : resolve(realPathOf(parent), relative(parent, path))
}
