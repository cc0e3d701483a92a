import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Failure } from './failure.ts'
import { readableByAll, readIfThere, writeWhole } from './files.ts'
import { isSecretName } from './names.ts'

/** The application and the environment of the commands in a folder. Nothing in it is secret, so it can be committed. */
interface ProjectScope {
  app?: string
  env?: string
}

/** `skerry.json`. `paths` maps folders of a monorepo, relative to the file, to their own application. */
export interface Project extends ProjectScope {
  url?: string
  org?: string
  /** The hash of a root of the organization's signed directory. Commands refuse a directory that does not follow from it. */
  pin?: string
  paths?: Record<string, ProjectScope>
  /** Secrets that programs get although their names make programs load or trust something. */
  allowNames?: string[]
}

export interface FoundProject {
  file: string
  project: Project
  /** The scope for the given folder: the nearest entry of `paths` overrides the file's own. */
  scope: ProjectScope
}

export const projectFileName = 'skerry.json'

/** Finds the nearest `skerry.json`, up to the repository's root or the home folder. */
export function findProject(folder: string): FoundProject | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, projectFileName)
    const text = readIfThere(file)
    if (text !== null) {
      const project = parseProject(text, file)
      return { file, project, scope: scopeOf(project, relative(at, resolve(folder))) }
    }
    if (existsSync(join(at, '.git')) || at === homedir() || dirname(at) === at) return null
  }
}

export function writeProject(file: string, project: Project): void {
  writeWhole(file, `${JSON.stringify(project, null, 2)}\n`, readableByAll)
}

/** Merges the entries of `paths` that enclose the folder. The closest entry wins, member by member. */
function scopeOf(project: Project, folder: string): ProjectScope {
  const segments = folder.split(sep).join('/')
  const enclosing = Object.entries(project.paths ?? {})
    .filter(([path]) => segments === path || segments.startsWith(`${path}/`))
    .sort(([a], [b]) => a.length - b.length)
  const own = { ...(project.app ? { app: project.app } : {}), ...(project.env ? { env: project.env } : {}) }
  return Object.assign(own, ...enclosing.map(([, scope]) => scope))
}

function parseProject(text: string, file: string): Project {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    throw new Failure('usage', `${file} is not JSON`, 'fix it, or delete it and run `skerry init`')
  }
  const fields = record(value, file, ['url', 'org', 'pin', 'app', 'env', 'paths', 'allowNames'])
  const project: Project = {}
  for (const key of ['url', 'org', 'pin', 'app', 'env'] as const) Object.assign(project, textField(fields, key, file))
  if (project.pin !== undefined && !pinPattern.test(project.pin)) throw notPin(file)
  if (fields.allowNames !== undefined) project.allowNames = nameList(fields.allowNames, file)
  if (fields.paths !== undefined) {
    const paths = Object.entries(record(fields.paths, `${file}: paths`)).map(([path, scope]) => {
      const where = `${file}: paths.${path}`
      const inner = record(scope, where, ['app', 'env'])
      const folder = path.replace(/^\.\//, '').replace(/\/+$/, '')
      return [folder, { ...textField(inner, 'app', where), ...textField(inner, 'env', where) }]
    })
    project.paths = Object.fromEntries(paths)
  }
  return project
}

/** The form of a pin. Its hash is decoded when an answer is verified. */
const pinPattern = /^[A-Za-z0-9_-]{43}(?:@[1-9]\d{0,15})?$/

const notPin = (file: string): Failure =>
  new Failure('usage', `${file}: 'pin' is not a pin`, 'copy the line that `skerry trust pin` prints')

function record(value: unknown, where: string, known?: string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure('usage', `${where} must be an object`)
  }
  const unknown = known && Object.keys(value).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw new Failure('usage', `${where}: '${unknown}' is not a setting`, `known: ${known!.join(', ')}`)
  return value as Record<string, unknown>
}

function nameList(value: unknown, file: string): string[] {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string' && isSecretName(one))
  if (!isList) throw new Failure('usage', `${file}: 'allowNames' must be a list of names of secrets`)
  return value
}

function textField(fields: Record<string, unknown>, key: string, where: string): Record<string, string> {
  const value = fields[key]
  if (value === undefined) return {}
  if (typeof value !== 'string' || value === '') throw new Failure('usage', `${where}: '${key}' must be text`)
  return { [key]: value }
}
