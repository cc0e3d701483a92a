import type { Context } from '../../http/context.ts'
import type { LiveHub } from './hub.ts'

export interface LiveContext extends Context {
  live: LiveHub
}
