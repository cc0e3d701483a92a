interface EndWords {
  title: string
  text: string
  /** The link is not used up, so the person can try it again. */
  canRetry?: true
}

/**
 * Every way in which this page can end without an account being connected, in words for people who do not know Skerry.
 */
const endScreens = {
  insecure: {
    title: 'This page needs a secure connection',
    text: 'Your browser can only protect what you enter on an address that begins with https. Please tell the app that sent you here.',
  },
  broken: {
    title: 'This link is not complete',
    text: 'A part of it is missing. Please go back to the app that gave it to you, and open it again or ask for a new one.',
  },
  unknown: {
    title: 'This link does not work',
    text: 'It may have been changed on its way to you. Please go back to the app that gave it to you, and ask for a new one.',
  },
  used: {
    title: 'This link was already opened',
    text: 'For your safety, a link works once, in the browser that opens it first. If that was you, go on there. If not, ask for a new link.',
  },
  expired: {
    title: 'This link has expired',
    text: 'For your safety, a link works for a short time only. Please go back to the app that gave it to you, and ask for a new one.',
  },
  cancelled: {
    title: 'This request was cancelled',
    text: 'The account that this link was for has been disconnected. You do not need to do anything.',
  },
  paused: {
    title: 'This account cannot be connected right now',
    text: 'The app has stopped offering it for the moment. Nothing was saved. Please try again later with a new link.',
  },
  busy: {
    title: 'Too many tries',
    text: 'Please wait a minute, and then try again.',
    canRetry: true,
  },
  lost: {
    title: 'There is no connection',
    text: 'Please check whether you are online, and then try again. Your link still works.',
    canRetry: true,
  },
  executor_lost: {
    title: 'The service that keeps your account is not answering',
    text: 'This is no fault of yours. Please try again in a minute; your link still works. If it happens again, tell the app that sent you here.',
    canRetry: true,
  },
  no_executor: {
    title: 'Accounts cannot be connected right now',
    text: 'The app has switched off the service that would keep your account. Nothing was sent. Please ask the app for a new link later.',
  },
  wrong_key: {
    title: 'We stopped to protect you',
    text: 'The service that would keep your account could not prove that it is the one this link was made for. Nothing was sent to it. Please do not try again, and tell the app that gave you the link.',
  },
  returned: {
    title: 'Please go back to where you began',
    text: 'You came back in another window or browser than the one in which you began. Go on there, or ask the app for a new link.',
  },
  left: {
    title: 'Nothing was connected',
    text: 'You can close this page. If you change your mind, ask the app for a new link.',
  },
} as const satisfies Record<string, EndWords>

export type End = keyof typeof endScreens

export const wordsOf = (end: End): EndWords => endScreens[end]
