import { me } from '@skerry/contract/me'
import { known, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { get, getKeys, putKeys } from './me.ts'

export const routes = [on(me.get, known, get), on(me.getKeys, person, getKeys), on(me.putKeys, person, putKeys)]
