/** The things that a page needs before its commands run. */
export interface Scene {
  /** Shell lines. */
  before: string
  /** Files of the project. */
  files?: Record<string, string>
  /** Programs that tests do not have, by name -> the output of each by its arguments. */
  standIns?: Record<string, string>
}

const start = 'skerry signup Acme && skerry init --app shop'

const set = (name: string, value: string, env = 'development') =>
  `echo -n '${value}' | skerry secrets set ${name} --env ${env}`

const dotenv = 'DATABASE_URL=\'postgres://db/shop\'\nAPI_KEY="k-123"\n'

/** The JSON that `doppler secrets download` documents, and a list of names. */
const doppler = `#!/bin/sh
case "$*" in
"secrets download --project shop --config dev --no-file --format json")
  echo '{"API_KEY":"k-123","DOPPLER_CONFIG":"dev","DOPPLER_ENVIRONMENT":"dev","DOPPLER_PROJECT":"shop"}' ;;
"secrets --project shop --config dev --only-names") echo API_KEY ;;
*) echo "doppler: unknown arguments: $*" >&2; exit 1 ;;
esac
`

/** A list, as Infisical's command writes it. */
const infisical = `#!/bin/sh
echo '[{"key":"API_KEY","workspace":"w","value":"it'"'"'s","type":"shared","_id":"1","tags":[]},{"key":"PORT","workspace":"w","value":"80","type":"shared","_id":"2","tags":[]}]'
`

/** The two versions of the key-value engine. */
const vault = `#!/bin/sh
case "$*" in
*kv/shop*) echo '{"data":{"db_password":"s3cret"},"lease_duration":2764800}' ;;
*) echo '{"data":{"data":{"db_password":"s3cret","db_user":"shop"},"metadata":{"version":2}}}' ;;
esac
`

/** Document -> its scene. A document without a row has an organization with the application shop. */
export const scenes: Record<string, Scene> = {
  'README.md': { before: '' },
  'docs/quick-start.md': { before: '' },
  'docs/command-line/start.md': { before: '' },
  'docs/guides/ci.md': { before: `${start} && ${set('DATABASE_URL', 'postgres://db/shop', 'production')}` },
  'docs/guides/leaked-token.md': {
    before: `${start} && ${set('DATABASE_URL', 'old', 'production')} && skerry token create ci --env production`,
  },
  'docs/guides/express.md': { before: `${start} && ${set('API_KEY', 'k-123')} && ${set('PORT', '0')}` },
  'docs/guides/vite.md': { before: start },
  'docs/guides/compose.md': { before: `${start} && ${set('DATABASE_URL', 'postgres://db/shop')}` },
  'docs/migrate/dotenv.md': {
    before: 'skerry signup Acme && git init -q .',
    files: { '.env': dotenv, '.env.production': dotenv },
    standIns: {
      dotenvx: '#!/bin/sh\necho \'API_KEY="k-456"\'\n',
      sops: '#!/bin/sh\necho \'{"API_KEY":"k-456"}\'\n',
    },
  },
  'docs/migrate/doppler.md': { before: 'skerry signup Acme', standIns: { doppler } },
  'docs/migrate/infisical.md': { before: 'skerry signup Acme', standIns: { infisical } },
  'docs/migrate/vault.md': { before: 'skerry signup Acme', standIns: { vault } },
}

export const usualScene: Scene = { before: start }
