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
  route(signIn.get, open('how to sign in'), get),
  route(signIn.setUp, open('the body carries what the console showed'), setUp),
  route(signIn.requestLink, limited('sign_in', open('begins a sign-in')), request),
  route(signIn.showInvitation, limited('sign_in', open('the body carries what the mail holds')), showInvitation),
  route(signIn.redeemLink, open('the body carries what the mail holds'), redeem),
  route(signIn.passkeyOptions, limited('sign_in', open('begins a sign-in')), options),
  route(signIn.passkey, open('the body carries what a passkey signed'), signInWithPasskey),
  route(signIn.refresh, open('the cookie is the credential'), refresh),
  route(signIn.signOut, open('the cookie is the credential'), signOut),
]

export const rawRoutes = [
  raw(['/.well-known/jwks.json'], 'public keys of session tokens', mountKeys),
  raw(['/sign-in/external', '/sign-in/external/callback'], 'redirects to the issuer and back', mountExternal),
]
