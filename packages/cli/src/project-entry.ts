import { join, relative, sep } from 'node:path'
import { type FoundProject, findProject, type Project, projectFileName, writeProject } from './project.ts'
import type { Settings } from './settings.ts'

/** The entry of a folder in a `skerry.json`: the file of the folder itself, or `paths` of a file above. */
export interface ProjectEntry {
  /** The entry as it is now. A file above names its own application, and not the one of this folder. */
  known: { app?: string; env?: string } | undefined
  /** The environment of the file above, for a folder that has no entry yet. */
  usualEnv: string | undefined
  /** Writes the entry, and returns the file. A file gets the pin if it has none. */
  write: (place: { app: string; env: string }, pin: string | undefined) => string
}

/** Finds the entry of a folder. A file above counts if it has the same server and organization. */
export function entryOf({ found, url }: Pick<Settings, 'found' | 'url'>, org: string, folder: string): ProjectEntry {
  const own = found?.file === join(folder, projectFileName) ? found : null
  const above = found && !own && isOf(found.project, url, org) ? found : null
  return {
    known: above ? ownEntry(above, folder) : own?.project,
    usualEnv: above?.scope.env,
    write: (place, pin) =>
      above
        ? addToPaths(above, folder, place)
        : writeOwn(own, folder, { url, org, ...(pin === undefined ? {} : { pin }), ...place }),
  }
}

/** Whether the file has this server and organization, so that the folder can be an entry of its `paths`. */
const isOf = (project: Project, url: string, org: string) =>
  (project.url === undefined || URL.parse(project.url)?.href === URL.parse(url)?.href) &&
  (project.org === undefined || project.org === org)

function ownEntry(found: FoundProject, folder: string) {
  return findProject(folder)?.project.paths?.[pathIn(found, folder)]
}

const pathIn = (found: FoundProject, folder: string) => relative(join(found.file, '..'), folder).split(sep).join('/')

function writeOwn(found: FoundProject | null, folder: string, scope: Project): string {
  const file = join(folder, projectFileName)
  const { paths, allowNames, pin } = found?.project ?? {}
  // Another organization has another directory, so its pin would refuse every answer.
  const isSame = found !== null && isOf(found.project, scope.url ?? '', scope.org ?? '')
  const kept = { ...(pin && isSame ? { pin } : {}), ...(paths ? { paths } : {}), ...(allowNames ? { allowNames } : {}) }
  writeProject(file, { ...scope, ...kept })
  return file
}

function addToPaths(found: FoundProject, folder: string, scope: { app: string; env: string }): string {
  const paths = { ...found.project.paths, [pathIn(found, folder)]: scope }
  writeProject(found.file, { ...found.project, paths })
  return found.file
}
