import { signIn } from '@skerry/contract/sign-in/endpoints'
import { limited, open } from '../../http/access.ts'
import { raw } from '../../http/raw.ts'
import { route } from '../../http/route.ts'
import { mountExternal } from './external.ts'
import { mountKeys } from './keys.ts'
import { redeem, request, showInvitation } from './links.ts'
import { options, signInWithPasskey } from './passkey.ts'
import { refresh, signOut } from './refresh.ts'
import { get, setUp } from './set-up.ts'

export const routes = [
  route(signIn.get, open('the answer says how to sign in'), get),
  route(signIn.setUp, open('the token of the set-up link is the credential'), setUp),
  route(signIn.requestLink, limited('sign_in', open('the call begins a sign-in')), request),
  route(
    signIn.showInvitation,
    limited('sign_in', open('the token of the mailed link is the credential')),
    showInvitation,
  ),
  route(signIn.redeemLink, open('the token of the mailed link is the credential'), redeem),
  route(signIn.passkeyOptions, limited('sign_in', open('the call begins a sign-in')), options),
  route(signIn.passkey, open('the signature of a passkey is the credential'), signInWithPasskey),
  route(signIn.refresh, open('the cookie that the sign-in set is the credential'), refresh),
  route(signIn.signOut, open('the cookie that the sign-in set is the credential'), signOut),
]

export const rawRoutes = [
  raw(['/.well-known/jwks.json'], 'public keys of session tokens', mountKeys),
  raw(['/sign-in/external', '/sign-in/external/callback'], 'redirects to the issuer and back', mountExternal),
]
