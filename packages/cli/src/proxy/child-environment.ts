import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { RunningProxy } from '@skerry/proxy/start'
import { privateFolder } from '../leases/private-folder.ts'
import { inheritedEnvironment } from '../run/environment.ts'
import { keyStore, keyStorePassword } from './key-store.ts'

/** Variables that tell runtimes and tools which certificates to trust. */
export const bundleVariables = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'PIP_CERT',
  'NPM_CONFIG_CAFILE',
  'CARGO_HTTP_CAINFO',
  'DENO_CERT',
] as const

export const proxyVariables = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
] as const

/** Variables that name hosts to reach without the proxy. */
const bypasses = ['NO_PROXY', 'no_proxy']

/** Credentials of other clients that use the same token format. */
const foreignCredentials = ['SEEKRIT_TOKEN', 'SEEKRIT_CLIENT_SECRET', 'SEEKRIT_PROXY_CONTROL_TOKEN']

export interface ChildEnvironment {
  env: Record<string, string>
  /** The folders of the files that the variables name. */
  folders: string[]
  remove: () => void
}

/** Prepares the variables and files with which a program sends everything through the proxy and trusts it. */
export async function openChildEnvironment(
  { forward, certificatePath }: RunningProxy,
  processEnv: NodeJS.ProcessEnv,
): Promise<ChildEnvironment> {
  const left = [...foreignCredentials, ...(forward === undefined ? [] : bypasses)]
  const inherited = Object.entries(inheritedEnvironment(processEnv)).filter(([name]) => !left.includes(name))
  const env = Object.fromEntries(inherited)
  if (forward === undefined || certificatePath === undefined) return { env, folders: [], remove: () => {} }
  const own = readFileSync(certificatePath, 'utf8')
  const trusted = [...new Set([...getCACertificates('default'), ...getCACertificates('system'), own])]
  const files = new Map<string, string | Uint8Array>([
    ['ca.pem', `${trusted.map((one) => one.trim()).join('\n')}\n`],
    ['ca.jks', keyStore(trusted.map((one) => new X509Certificate(one).raw))],
  ])
  const { paths, remove } = await privateFolder(files)
  const forAll = (names: readonly string[], value: string) => names.map((name) => [name, value] as const)
  const java = [env.JAVA_TOOL_OPTIONS, javaOptions(forward, paths['ca.jks']!)].filter(Boolean).join(' ')
  return {
    env: {
      ...env,
      ...Object.fromEntries([...forAll(proxyVariables, forward), ...forAll(bundleVariables, paths['ca.pem']!)]),
      NODE_EXTRA_CA_CERTS: paths['ca.pem']!,
      NODE_USE_ENV_PROXY: '1',
      JAVA_TOOL_OPTIONS: java,
    },
    folders: [dirname(paths['ca.pem']!)],
    remove,
  }
}

function javaOptions(forward: string, store: string): string {
  const { hostname, port } = new URL(forward)
  const proxies = ['http', 'https'].flatMap((scheme) => [
    `-D${scheme}.proxyHost=${hostname}`,
    `-D${scheme}.proxyPort=${port}`,
  ])
  const trust = [`-Djavax.net.ssl.trustStore=${store}`, `-Djavax.net.ssl.trustStorePassword=${keyStorePassword}`]
  // By default, Java connects to hosts on this machine without the proxy. This setting sends these connections through
  // the proxy, too.
  return [...proxies, '-Dhttp.nonProxyHosts=', ...trust, '-Djavax.net.ssl.trustStoreType=JKS'].join(' ')
}
