import { createHash } from 'node:crypto'
import { networkError } from '@skerry/sdk/internal/transport'
import { Failure } from './failure.ts'
import { readOwnFile } from './own-file.ts'
import { checkServerUrl } from './server-url.ts'

/** The part of a package's dist/build.json that is compared. */
interface Build {
  files: Record<string, { integrity: string }>
  importMapSha256: string | null
}

export interface Difference {
  path: string
  what: string
}

/** The pages that encrypt keys and credentials before these reach the server. */
const pages = ['dashboard', 'connect']

/** Fetches every file of this installation's pages from a server, and compares it with the local file. */
export async function compareDashboard(url: string): Promise<{ files: number; differences: Difference[] }> {
  // Plain HTTP is allowed, because no credential is sent. A result over HTTP proves little, and the user knows that.
  const baseUrl = checkServerUrl(url, { allowInsecure: true })
  const differences: Difference[] = []
  let files = 0
  for (const build of pages.map(readOwnBuild))
    for (const [path, { integrity }] of Object.entries(build.files)) {
      files += 1
      const what = await compareFile(baseUrl, path, integrity, build)
      if (what) differences.push({ path, what })
    }
  return { files, differences }
}

function readOwnBuild(name: string): Build {
  try {
    return JSON.parse(readOwnFile(`../../${name}/dist/build.json`)) as Build
  } catch {
    throw new Failure('failure', 'this installation has no dashboard to compare with', 'run `npm run build` in it')
  }
}

async function compareFile(baseUrl: string, path: string, integrity: string, build: Build) {
  const response = await answer(baseUrl + path)
  if (!response.ok) return `the server answered ${response.status}`
  const bytes = new Uint8Array(await response.arrayBuffer())
  const isPage = path.endsWith('/')
  const found = createHash('sha384').update(isPage ? withoutNonce(bytes) : bytes)
  if (`sha384-${found.digest('base64')}` !== integrity) return 'other content'
  const policy = response.headers.get('content-security-policy') ?? ''
  const scripts = ["'self'", ...(build.importMapSha256 ? [`'${build.importMapSha256}'`] : [])].join(' ')
  if (isPage && !policy.split('; ').includes(`script-src ${scripts}`))
    return 'the right content, but its Content-Security-Policy allows other scripts'
}

async function answer(url: string): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(30_000) })
  } catch (error) {
    const failure = networkError(error, new URL(url).origin)
    if (failure.code === 'untrusted_certificate') throw failure
    // The usual next step names --url, which this command does not read.
    throw new Failure('unavailable', failure.message, 'check the address, and that the server runs')
  }
}

/** Removes the nonce, which is different in each answer and occurs once. It allows styles but no scripts. */
const withoutNonce = (bytes: Uint8Array) =>
  new TextDecoder().decode(bytes).replace(/(<meta name="skerry-nonce" nonce=")[\w-]{43}(">)/, '$1__SKERRY_NONCE__$2')
