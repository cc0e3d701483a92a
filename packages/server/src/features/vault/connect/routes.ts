import { vaultConnect } from '@skerry/contract/vault/connect'
import { limited, open } from '../../../http/access.ts'
import { route } from '../../../http/route.ts'
import { cancel, claim, consent, get, manage, revoke, submit } from './connect.ts'
import { connectClaim, manageClaim } from './scope.ts'

export const routes = [
  route(vaultConnect.claim, limited('vaultClaim', open('the token of the link is the credential')), claim),
  route(vaultConnect.session, connectClaim, get),
  route(vaultConnect.consent, connectClaim, consent),
  route(vaultConnect.submit, connectClaim, submit),
  route(vaultConnect.cancel, connectClaim, cancel),
  route(vaultConnect.manage, manageClaim, manage),
  route(vaultConnect.revoke, manageClaim, revoke),
]
