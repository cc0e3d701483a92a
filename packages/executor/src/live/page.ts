import { readFile } from 'node:fs/promises'
import type { Executor } from '../executor.ts'

const types = { 'view.html': 'text/html', 'view.js': 'text/javascript', 'view.css': 'text/css' } as const

/**
 * A file of the live view. The page runs only its own script, connects only to this executor, and is never in a frame.
 */
export const livePage = (name: keyof typeof types) => async (executor: Executor) => {
  const file = await readFile(new URL(`./page/${name}`, import.meta.url))
  const policy = [
    ...[
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ],
    // Some browsers do not count a WebSocket of the same host as 'self'.
    `connect-src 'self' ${executor.origin.replace(/^http/, 'ws')}`,
    "frame-ancestors 'none'",
  ]
  const headers = {
    'content-type': `${types[name]}; charset=utf-8`,
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  }
  return { file, headers }
}
