/** A file of `src` that Node runs. */
interface Run {
  word?: string
  /** Options of Node. */
  flags?: string
  file: string
}

/** A package that a release publishes. */
export interface Release {
  /** The folder in `packages/`, and the name behind `@skerry/`. */
  name: 'cli' | 'executor' | 'sdk' | 'server'
  /** Modules of `src` that other packages import -> the path of each in `exports`. */
  modules: Record<string, string>
  /** Command -> what it runs: the first row whose `word` is its first argument. The last row has no word. */
  commands: Record<string, Run[]>
  /** Whether npm installs Node with the package. A command then runs on that Node. */
  hasNode: boolean
  /** Whether npm installs the versions of the lockfile, also of the dependencies of dependencies. */
  isLocked: boolean
  /** Files of built pages that the package holds. */
  pages: 'all' | 'descriptions' | 'none'
  /** Packages of npm that are in the bundle. All others are dependencies. */
  bundled: string[]
  /** Whether the package has the completions and the man pages of `skerry`. */
  hasManuals: boolean
  /** Other files of the repository that the package holds. */
  files?: string[]
  /** The README; the one of the folder unless given. */
  readme?: string
}

const server = `# @skerry/server

The server of Skerry: one process with API, dashboard and jobs, on PostgreSQL or its embedded database. It stores ciphertext only.

    npm install -g @skerry/server
    skerry-server start

The start prints the address of the dashboard. Data is in the folder \`.skerry\` of the current folder. Variables \`SKERRY_*\` are the
settings. \`skerry-server --help\` lists the commands for operators.
`

const cli = `# @skerry/cli

The command \`skerry\`. It gives programs their secrets, which the server cannot read.

    npm install -g @skerry/cli
    skerry signup --url https://skerry.example.com
    skerry init
    skerry secrets set DATABASE_URL
    skerry run -- npm start

\`skerry --help\` lists the commands, and \`skerry help\` with words describes a task. \`man skerry\` has the same on paper.

Completion of commands and options: \`source <(skerry completion bash)\`, \`zsh\` or \`fish\`.
`

/** Everything that `npm run package` makes packages of. `modules` of the SDK are those of its own package.json. */
export const releases: readonly Release[] = [
  {
    name: 'cli',
    modules: {},
    commands: { skerry: [{ file: 'main.js' }] },
    hasNode: true,
    isLocked: true,
    // `skerry dashboard verify` compares them with what a server sends.
    pages: 'descriptions',
    // Every command loads it, and starts sooner with one file less to find.
    bundled: ['commander'],
    hasManuals: true,
    readme: cli,
  },
  {
    name: 'executor',
    modules: { '.': 'config/define.ts' },
    commands: { 'skerry-executor': [{ file: 'main.js' }] },
    hasNode: false,
    isLocked: true,
    pages: 'none',
    bundled: [],
    hasManuals: false,
  },
  {
    name: 'sdk',
    modules: {},
    commands: {},
    hasNode: false,
    isLocked: false,
    pages: 'none',
    bundled: [],
    hasManuals: false,
  },
  {
    name: 'server',
    modules: {},
    commands: {
      'skerry-server': [
        // The option of `npm start`.
        { word: 'start', flags: '--max-semi-space-size=4', file: 'main.js' },
        { file: 'operator/main.js' },
      ],
    },
    hasNode: true,
    isLocked: true,
    pages: 'all',
    bundled: [],
    // docs/deploy.md installs the unit from the package.
    files: ['deploy/skerry-server.service'],
    hasManuals: false,
    readme: server,
  },
]
