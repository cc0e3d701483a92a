import { resolve } from '@skerry/contract/resolve/endpoints'
import { route } from '../../http/route.ts'
import { fastPath, get, resolver } from './resolve.ts'

export const routes = [route(resolve.get, resolver, get, { fastPath })]
