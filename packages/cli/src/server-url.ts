import { isLoopback } from '@skerry/contract/loopback'
import { parseBaseUrl } from '@skerry/sdk/internal/base-url'
import { usage } from './failure.ts'

const bareHost = /^([\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:\/[\w./-]*)?$/

/** Refuses a host without `https://`, which is the most frequent mistake. Other texts may contain a credential. */
export function refuseBareHost(url: string): void {
  const [, host] = bareHost.exec(url) ?? []
  if (host === undefined) return
  throw usage(`'${url}' is not a URL`, `write it as http${isLoopback(host) ? '' : 's'}://${url}`)
}

/** Checks the URL of a server and writes it in one way, without a slash at the end. */
export function checkServerUrl(url: string, options: { allowInsecure: boolean }): string {
  refuseBareHost(url)
  try {
    return parseBaseUrl(url, options)
  } catch (error) {
    const reason = (error as Error).message
      .replace(/^baseUrl: /, '')
      .replace('allowInsecure', 'SKERRY_ALLOW_INSECURE=1')
    throw usage(`the server’s address ${reason}`)
  }
}
