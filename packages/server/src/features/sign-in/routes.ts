import { signIn } from '@skerry/contract/sign-in'
import { limited, open } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { redeem, request } from './links.ts'
import { options, signInWithPasskey } from './passkey.ts'
import { refresh, signOut } from './refresh.ts'
import { get, setUp } from './set-up.ts'

export const routes = [
  on(signIn.get, open('how to sign in'), get),
  on(signIn.setUp, open('the body carries what the console showed'), setUp),
  on(signIn.requestLink, limited('sign_in', open('begins a sign-in')), request),
  on(signIn.redeemLink, open('the body carries what the mail holds'), redeem),
  on(signIn.passkeyOptions, limited('sign_in', open('begins a sign-in')), options),
  on(signIn.passkey, open('the body carries what a passkey signed'), signInWithPasskey),
  on(signIn.refresh, open('the cookie is the credential'), refresh),
  on(signIn.signOut, open('the cookie is the credential'), signOut),
]
