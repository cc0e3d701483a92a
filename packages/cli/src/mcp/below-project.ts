import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { Failure } from '../failure.ts'
import { findProject } from '../project.ts'

/**
 * Keeps an assistant's files in the project: a secret elsewhere, such as in a folder that is served or synchronized, would go where
 * the person does not look. A link counts as the place to which it leads.
 *
 * @throws Failure for a place outside of the folder of skerry.json, or of the working directory where there is none.
 */
export function checkBelowProject(file: string): void {
  const found = findProject(process.cwd())
  const root = realpathSync(found === null ? process.cwd() : dirname(found.file))
  const way = relative(root, realPathOf(resolve(file)))
  if (way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way)) return
  throw new Failure('refused', `${file} is not below ${root}`, 'name a file in the project')
}

/** Of a file that is not there yet, the real path of the folder that is, and the rest. */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : resolve(realPathOf(parent), relative(parent, path))
}
