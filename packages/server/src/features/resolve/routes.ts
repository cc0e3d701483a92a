import { resolve } from '@skerry/contract/resolve'
import { on } from '../../http/route.ts'
import { fromMemory, get, resolver } from './resolve.ts'

export const routes = [on(resolve.get, resolver, get, { fromMemory })]
