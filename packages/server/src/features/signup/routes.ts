import { signup } from '@skerry/contract/signup/endpoints'
import { limited, open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create } from './signup.ts'

export const routes = [
  route(signup.create, limited('signup', open('the call makes the first credential of an organization')), create),
]
