import { identityLinks } from '@skerry/contract/identity-links/endpoints'
import { limited, open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { confirm, decline, enterSecondFactor, get, passkeyOptions, requestMail } from './identity-links.ts'

const byCookie = open('the cookie that the sign-in set is the credential')

export const routes = [
  route(identityLinks.get, byCookie, get),
  route(identityLinks.requestMail, limited('sign_in', byCookie), requestMail),
  route(identityLinks.confirm, byCookie, confirm),
  route(identityLinks.passkeyOptions, limited('sign_in', byCookie), passkeyOptions),
  route(identityLinks.enterSecondFactor, byCookie, enterSecondFactor),
  route(identityLinks.decline, byCookie, decline),
]
