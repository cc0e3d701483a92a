import { oauth } from '@skerry/contract/oauth/endpoints'
import { open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { issue } from './token.ts'

export const routes = [route(oauth.token, open('the id and secret of the machine client may be in the body'), issue)]
