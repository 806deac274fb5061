// Search in pages that are opened as files: browsers allow no workers there, so a hidden frame does a worker's work.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      const load = (url) => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        script.src = url;
        script.onload = done;
        script.onerror = failed;
        inner.document.body.append(script);
      });
      inner.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => load(url)), Promise.resolve());
      inner.postMessage = (data) => setTimeout(() => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      });
      this.inner = inner;
      this.ready = load(address);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
