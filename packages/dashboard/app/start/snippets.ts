/** The place and the address that a snippet names. */
interface Place {
  url: string
  app: string
  env: string
}

interface Snippet {
  language: string
  text: (place: Place) => string
}

/** Commands that connect the folder of a project. They are the same for every language. */
const connected = ({ url, app, env }: Place) => [
  '# once, in the folder of the project',
  `skerry login --url ${url}`,
  `skerry setup --app ${app} --env ${env}`,
]

const run = (command: string, reads: string) => (place: Place) =>
  [...connected(place), `skerry run -- ${command}`, '', `# the program reads ${reads}`].join('\n')

/** The commands with which a program of each language starts. Its secrets are environment variables of its process. */
export const snippets: readonly Snippet[] = [
  { language: 'Node', text: run('npm start', 'process.env.DATABASE_URL') },
  { language: 'Python', text: run('python app.py', 'os.environ["DATABASE_URL"]') },
  { language: 'Go', text: run('go run .', 'os.Getenv("DATABASE_URL")') },
  { language: 'Ruby', text: run('bin/rails server', 'ENV["DATABASE_URL"]') },
  { language: 'Java', text: run('./gradlew bootRun', 'System.getenv("DATABASE_URL")') },
  { language: 'Docker', text: run('docker compose up', 'what `environment:` in compose.yaml lists by name') },
  {
    language: 'CI',
    text: ({ url, app, env }) =>
      [
        '# once, on your machine: the token goes into the secrets of your CI',
        `skerry token create ci --app ${app} --env ${env}`,
        '',
        '# in the job, with SKERRY_TOKEN set',
        `export SKERRY_URL=${url}`,
        'skerry run -- npm test',
      ].join('\n'),
  },
]
