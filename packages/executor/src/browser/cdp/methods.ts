import { fail } from '../../http/refusal.ts'

type Params = Record<string, unknown>

/**
 * What a program that drives a browser may ask of a page, by domain of the DevTools protocol. What is not here is refused: cookies
 * that scripts cannot read, headers and bodies of the network, files of this machine, other targets, the browser itself.
 */
const passed: Readonly<Record<string, ReadonlySet<string>>> = {
  Accessibility: new Set(
    words(
      'enable disable getFullAXTree getPartialAXTree getRootAXNode getChildAXNodes getAXNodeAndAncestors queryAXTree',
    ),
  ),
  DOM: new Set(
    words(`enable disable describeNode discardSearchResults focus getAttributes getBoxModel getContentQuads getDocument
      getFlattenedDocument getFrameOwner getNodeForLocation getOuterHTML getSearchResults performSearch
      pushNodesByBackendIdsToFrontend querySelector querySelectorAll requestChildNodes requestNode resolveNode
      scrollIntoViewIfNeeded`),
  ),
  DOMSnapshot: new Set(words('enable disable captureSnapshot')),
  Emulation: new Set(
    words(`clearDeviceMetricsOverride setDefaultBackgroundColorOverride setDeviceMetricsOverride setEmulatedMedia
      setFocusEmulationEnabled setTouchEmulationEnabled`),
  ),
  Input: new Set(words('dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent imeSetComposition insertText')),
  Log: new Set(words('enable disable')),
  Page: new Set(
    words(`enable disable addScriptToEvaluateOnNewDocument bringToFront captureScreenshot createIsolatedWorld getFrameTree
      getLayoutMetrics getNavigationHistory navigate navigateToHistoryEntry reload removeScriptToEvaluateOnNewDocument
      screencastFrameAck setLifecycleEventsEnabled startScreencast stopLoading stopScreencast`),
  ),
  Runtime: new Set(
    words(`enable disable addBinding awaitPromise callFunctionOn evaluate getProperties releaseObject releaseObjectGroup
      removeBinding runIfWaitingForDebugger`),
  ),
}

/** What libraries ask for as they connect, and do without: answered, and not done. */
const unheeded = new Set(
  words(`Inspector.enable Network.enable Network.disable Network.setCacheDisabled Page.setFontFamilies Page.setInterceptFileChooserDialog
    Performance.enable Security.enable Security.setIgnoreCertificateErrors ServiceWorker.enable Target.setAutoAttach`),
)

function words(text: string): string[] {
  return text.split(/\s+/)
}

/**
 * How a command to a page is treated.
 *
 * @throws VaultRefusal `not_allowed`.
 */
export function treatment(method: string, params: Params): 'pass' | 'ignore' {
  const [domain = '', name = ''] = method.split('.')
  if (unheeded.has(method)) return 'ignore'
  if (!(Object.hasOwn(passed, domain) && passed[domain]!.has(name)))
    throw fail('not_allowed', `${method} is not passed on`)
  // Files of this machine, and pages of the browser itself, would open to a command as they do in an address bar.
  if (method === 'Page.navigate' && !/^(?:https?:\/\/|about:blank$)/i.test(String(params.url)))
    throw fail('not_allowed', 'a page is opened at an https:// address alone')
  return 'pass'
}
