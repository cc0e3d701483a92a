// Gives the secrets of an environment to the steps that follow, through the file GITHUB_ENV. `skerry run` starts this file
// a second time, with the secrets as environment variables: so it verifies, and withholds names such as NODE_OPTIONS.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const own = fileURLToPath(import.meta.url)

/** Variables of the runner that `skerry` needs. It gets no other, so that no secret is mistaken for one of the runner's. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'GITHUB_ENV', 'NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'NO_PROXY']

/** A shell sets these, such as the one that starts the `skerry` command of the npm package. */
const ofShell = ['PWD', 'OLDPWD', 'SHLVL', '_']

/** The runner refuses these, or lets a step decide about itself with them. */
const ofRunner = /^(?:GITHUB_|RUNNER_|ACTIONS_|INPUT_)/

const input = (name) => process.env[`INPUT_${name.toUpperCase()}`]?.trim() ?? ''

/** A workflow command is one line. */
const escapeData = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function fail(message) {
  writeSync(1, `::error::${escapeData(message)}\n`)
  process.exit(1)
}

/** Starts `skerry run`, which starts this file again. The token is in a variable, because arguments can be read by all. */
function decrypt() {
  const [token, url, pin, environment, only, except] = ['token', 'url', 'pin', 'environment', 'only', 'except'].map(
    input,
  )
  if (token === '') fail('the input token is empty: is the secret set, and may this workflow read it?')
  if (url === '') fail('the input url is missing')
  if (!process.env.GITHUB_ENV) fail('GITHUB_ENV is not set: this action runs on a runner of GitHub Actions')
  const kept = Object.fromEntries(passedOn.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])))
  const env = { ...kept, SKERRY_TOKEN: pin === '' || token.includes('.') ? token : `${token}.${pin}`, SKERRY_URL: url }
  const options = Object.entries({ env: environment, only, except }).flatMap(([name, text]) =>
    text === '' ? [] : [`--${name}=${text}`],
  )
  // The values are printed once, in the commands that make the runner mask them, so skerry itself must not mask them.
  const args = [
    'run',
    '--no-mask',
    '--no-cache',
    ...options,
    '--',
    process.execPath,
    own,
    'export',
    ...Object.keys(env),
    ...ofShell,
  ]
  const child = spawn(input('command') || 'skerry', args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  child.on('error', (error) => fail(`the skerry command cannot be started: ${error.code}`))
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}

/** Masks each line of each value, and only then writes the values for the steps that follow. */
function exportSecrets(given) {
  const secrets = Object.entries(process.env).filter(([name]) => !given.includes(name))
  const refused = secrets.map(([name]) => name).filter((name) => ofRunner.test(name))
  for (const [, value] of secrets)
    for (const line of new Set([value, ...value.split(/\r\n|\r|\n/)]))
      if (line.trim() !== '') writeSync(1, `::add-mask::${escapeData(line)}\n`)
  if (refused.length > 0) fail(`the runner uses these names itself: ${refused.join(', ')}; leave them out with except`)
  const text = secrets.map(([name, value]) => {
    const delimiter = `skerry_${randomUUID()}`
    return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
  })
  appendFileSync(process.env.GITHUB_ENV, text.join(''))
  writeSync(
    1,
    `Exported ${
      secrets
        .map(([name]) => name)
        .sort()
        .join(', ') || 'nothing'
    }\n`,
  )
}

const [, , role, ...given] = process.argv
if (role === 'export') exportSecrets(given)
else decrypt()
